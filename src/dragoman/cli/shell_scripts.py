"""Scripts by which shells complete our commands, one function for each shell."""

import shlex

from dragoman.cli.command_tree import Command, Option, walk

BASH = """\
# Completion for bash: eval "$(dragoman completion bash)"
_dragoman() {
    local current=${COMP_WORDS[COMP_CWORD]} path="" word i
    local commands="" options="" values="" files=""
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case "$path/$word" in
@WAYS@
        esac
    done
    case "$path" in
@COMMANDS@
    esac
    case "$path ${COMP_WORDS[COMP_CWORD-1]}" in
@VALUES@
    esac
    if [[ $values == - ]]; then
        COMPREPLY=($(compgen -f -- "$current"))
        compopt -o filenames 2>/dev/null
    elif [[ $values == . ]]; then
        return
    elif [[ -n $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$current"))
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$commands" -- "$current"))
        if [[ -n $files ]]; then
            COMPREPLY+=($(compgen -f -- "$current"))
            compopt -o filenames 2>/dev/null
        fi
    fi
}
complete -F _dragoman dragoman
"""


def bash_script(tree: Command) -> str:
    """Return a script for bash; `-` stands for files and `.` for nothing to offer."""
    ways, commands, values = [], [], []
    for command in walk(tree):
        path = "/".join(command.words)
        ways += [
            f'"{path}/{below.name}") path="{"/".join(below.words)}" ;;'
            for below in command.commands
        ]
        words = [below.name for below in command.commands] + list(command.choices)
        options = [name for option in command.options for name in option.names]
        commands.append(
            f'"{path}") commands="{" ".join(words)}" options="{" ".join(options)}"'
            f' files="{"yes" if command.takes_paths else ""}" ;;'
        )
        for option in command.options:
            if option.takes_value:
                given = " ".join(option.choices) or ("-" if option.is_path else ".")
                patterns = "|".join(f'"{path} {name}"' for name in option.names)
                values.append(f'{patterns}) values="{given}" ;;')
    script = BASH
    for mark, lines in (("WAYS", ways), ("COMMANDS", commands), ("VALUES", values)):
        indent = " " * (12 if mark == "WAYS" else 8)
        script = script.replace(f"@{mark}@", "\n".join(indent + line for line in lines))
    return script


def zsh_script(tree: Command) -> str:
    """Return a script for zsh, with a function for each command."""
    functions = "\n\n".join(_zsh_function(command) for command in walk(tree))
    return (
        "#compdef dragoman\n"
        '# Completion for zsh: eval "$(dragoman completion zsh)", after compinit\n\n'
        f"{functions}\n\n"
        "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
        '    _dragoman "$@"\n'
        "else\n"
        "    compdef _dragoman dragoman\n"
        "fi\n"
    )


def _zsh_function(command: Command) -> str:
    name = "_".join(("_dragoman", *command.words))
    specs = [spec for option in command.options for spec in _zsh_specs(option)]
    if not command.commands:
        words = " ".join(command.choices)
        rest = f"({words})" if words else "_files" if command.takes_paths else ""
        specs.append(f"*::argument:{rest}" if not rest else f"*:argument:{rest}")
        lines = " \\\n        ".join(["_arguments", *map(shlex.quote, specs)])
        return f"{name}() {{\n    {lines}\n}}"
    specs += ["1:command:->command", "*::argument:->argument"]
    lines = " \\\n        ".join(["_arguments -C", *map(shlex.quote, specs)])
    described = " ".join(
        shlex.quote(f"{below.name}:{below.help}") for below in command.commands
    )
    return (
        f"{name}() {{\n    local state line\n    local -a commands\n    {lines}\n"
        "    case $state in\n"
        f"        command) commands=({described}); _describe command commands ;;\n"
        f"        argument) (( $+functions[{name}_$line[1]] )) && {name}_$line[1] ;;\n"
        "    esac\n}"
    )


def _zsh_specs(option: Option) -> list[str]:
    about = option.help
    for special in "\\[]:":
        about = about.replace(special, f"\\{special}")
    value = ""
    if option.takes_value:
        given = f"({' '.join(option.choices)})" if option.choices else ""
        value = f":value:{given or ('_files' if option.is_path else '')}"
    return [f"*{name}[{about}]{value}" for name in option.names]


def fish_script(tree: Command) -> str:
    """Return a script for fish; a command is told by the words before the cursor."""
    lines = ["# Completion for fish: dragoman completion fish | source"]
    lines += ["complete -c dragoman -f"]
    for command in walk(tree):
        when = shlex.quote(_fish_condition(command))
        for below in command.commands:
            lines.append(
                f"complete -c dragoman -n {when} -a {below.name} "
                f"-d {shlex.quote(below.help)}"
            )
        if command.choices:
            words = shlex.quote(" ".join(command.choices))
            lines.append(f"complete -c dragoman -n {when} -a {words}")
        if command.takes_paths:
            lines.append(f"complete -c dragoman -n {when} -F")
        for option in command.options:
            lines.append(f"complete -c dragoman -n {when} {_fish_option(option)}")
    return "\n".join(lines) + "\n"


def _fish_condition(command: Command) -> str:
    seen = [f"__fish_seen_subcommand_from {word}" for word in command.words]
    if command.commands:
        below = " ".join(each.name for each in command.commands)
        seen.append(f"not __fish_seen_subcommand_from {below}")
    return "; and ".join(seen) or "true"


def _fish_option(option: Option) -> str:
    parts = []
    for name in option.names:
        kind = "-l" if name.startswith("--") else "-s"
        parts.append(f"{kind} {name.lstrip('-')}")
    if option.takes_value:
        parts.append("-r -F" if option.is_path else "-x")
    if option.choices:
        parts.append(f"-a {shlex.quote(' '.join(option.choices))}")
    return " ".join([*parts, f"-d {shlex.quote(option.help)}"])
