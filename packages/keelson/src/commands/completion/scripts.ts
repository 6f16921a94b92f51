// What a shell must know to ask us when somebody presses Tab.

export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

/** The script that a shell runs at its start. */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of keelson for bash. In ~/.bashrc:  source <(keelson completion bash)
_keelson() {
  local IFS=$'\\n' line
  COMPREPLY=()
  for line in $(keelson complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done
}
# Where nothing is known, files.
complete -o default -F _keelson keelson
`,
  zsh: `#compdef keelson
# Completion of keelson for zsh. In ~/.zshrc, after compinit:  source <(keelson completion zsh)
_keelson() {
  local line
  local -a lines values
  lines=("\${(@f)$(keelson complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -n $line ]] && values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#values} )); then _describe keelson values; else _files; fi
}
if [[ $funcstack[1] == _keelson ]]; then _keelson "$@"; else compdef _keelson keelson; fi
`,
  fish: `# Completion of keelson for fish. Once:  keelson completion fish > ~/.config/fish/completions/keelson.fish
function __keelson_knows
  set -l words (commandline -opc) (commandline -ct)
  set -g __keelson_found (keelson complete -- $words[2..] 2>/dev/null)
  test (count $__keelson_found) -gt 0
end
# Where nothing is known, files.
complete -c keelson -n __keelson_knows -f -a '$__keelson_found'
`,
};
