"""Why a request is not answered as asked; each API says it in its own shape."""


class RefusalError(Exception):
    """A request that is not answered as asked, with its HTTP status."""

    def __init__(
        self, status: int, message: str, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


def bad_request(message: str) -> RefusalError:
    """Say that the request itself is wrong."""
    return RefusalError(400, message)


def too_busy(seconds: int) -> RefusalError:
    """Say that the queue is full, and when to come again."""
    return RefusalError(503, "The server is busy: try again later", seconds)


def too_late() -> RefusalError:
    """Say that the deadline has passed."""
    return RefusalError(503, "The deadline passed before the work was done", 1)
