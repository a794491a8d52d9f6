// karakuri completion bash|zsh|fish: scripts from the tables of help.
#include <string.h>

#include "cli.h"
#include "load.h"

typedef struct completion_options {
    int shell;
} completion_options;

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static const cli_option arguments[] = {
    {.name = "SHELL",
     .kind = CLI_CHOICE,
     .is_required = true,
     .offset = offsetof(completion_options, shell),
     .choices = shells,
     .about = "bash, zsh or fish"},
    {.name = NULL},
};

/// Words a value can be, with blanks between; nothing where it can be anything.
static void add_words(cli_text *out, const cli_option *o) {
    if (o->kind == CLI_MODEL) {
        for (int i = 0; load_robot(i).name; i++) {
            text_format(out, "%srobot:%s", i ? " " : "", load_robot(i).name);
        }
    } else if (o->kind == CLI_VERB) {
        for (int i = 0; cli_verbs[i]; i++) {
            text_format(out, "%s%s", i ? " " : "", cli_verbs[i]->name);
        }
    }
    for (int i = 0; o->choices && o->choices[i]; i++) {
        text_format(out, "%s%s", i ? " " : "", o->choices[i]);
    }
}

static bool takes_files(const cli_option *o) {
    return o->kind == CLI_FILE || o->kind == CLI_MODEL;
}

// ---- bash

/// A case of the word before the cursor: what may follow an option.
static void bash_option(cli_text *out, const cli_option *o) {
    if (o->kind == CLI_FLAG) {
        return;
    }
    cli_text words = {0};
    add_words(&words, o);
    text_format(out, "        --%s", o->name);
    if (o->letter) {
        text_format(out, "|-%c", o->letter);
    }
    const char *action = o->kind == CLI_FOLDER ? " -d" : takes_files(o) ? " -f" : "";
    text_format(out, ") COMPREPLY=($(compgen%s -W '%s' -- \"$current\")); return ;;\n", action, text_string(&words));
    text_free(&words);
}

static void bash_names(cli_text *out, const cli_option *table) {
    for (; table && table->name; table++) {
        text_format(out, " --%s", table->name);
    }
}

static void bash_verb(cli_text *out, const cli_verb *verb) {
    text_format(out, "    %s)\n        case \"$previous\" in\n", verb->name);
    for (const cli_option *o = verb->options; o && o->name; o++) {
        bash_option(out, o);
    }
    for (const cli_option *o = cli_loading_options(verb); o && o->name; o++) {
        bash_option(out, o);
    }
    for (const cli_option *o = cli_common_options; o->name; o++) {
        bash_option(out, o);
    }
    text_add(out, "        esac\n        options='");
    bash_names(out, verb->options);
    bash_names(out, cli_loading_options(verb));
    bash_names(out, cli_common_options);
    cli_text words = {0};
    bool has_files = false;
    for (const cli_option *a = verb->arguments; a && a->name; a++) {
        add_words(&words, a);
        has_files = has_files || takes_files(a);
    }
    text_format(out, "'\n        words='%s'\n        files=%s ;;\n", text_string(&words), has_files ? "-f" : "");
    text_free(&words);
}

static void write_bash(cli_text *out) {
    text_add(out, "# bash completion of karakuri; written by 'karakuri completion bash'\n"
                  "_karakuri() {\n"
                  "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "    local options='' words='' files=''\n"
                  "    # a colon splits words here: robot:NAME must be put together again\n"
                  "    if declare -F _get_comp_words_by_ref >/dev/null; then\n"
                  "        _get_comp_words_by_ref -n : -c current -p previous\n"
                  "    fi\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                  "        COMPREPLY=($(compgen -W '");
    for (int i = 0; cli_verbs[i]; i++) {
        text_format(out, "%s ", cli_verbs[i]->name);
    }
    text_add(out, "--help --version' -- \"$current\"))\n        return\n    fi\n    case \"${COMP_WORDS[1]}\" in\n");
    for (int i = 0; cli_verbs[i]; i++) {
        bash_verb(out, cli_verbs[i]);
    }
    text_add(out, "    esac\n"
                  "    case \"$current\" in\n"
                  "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
                  "    *) COMPREPLY=($(compgen $files -W \"$words\" -- \"$current\")) ;;\n"
                  "    esac\n"
                  "    if declare -F __ltrim_colon_completions >/dev/null; then\n"
                  "        __ltrim_colon_completions \"$current\"\n"
                  "    fi\n"
                  "}\n"
                  "complete -o filenames -F _karakuri karakuri\n");
}

// ---- zsh

/// Text inside a single-quoted zsh spec: no quotes, brackets and colons are escaped.
static void zsh_text(cli_text *out, const char *string) {
    for (; *string; string++) {
        if (*string == '\'') {
            text_add(out, "'\\''");
        } else {
            text_add(out, strchr("[]:\\", *string) ? "\\" : "");
            text_add_bytes(out, string, 1);
        }
    }
}

static void zsh_action(cli_text *out, const cli_option *o) {
    cli_text words = {0};
    add_words(&words, o);
    text_add(out, ":");
    zsh_text(out, o->value ? o->value : o->name);
    text_add(out, ":");
    if (o->kind == CLI_FOLDER) {
        text_add(out, "_files -/");
    } else if (o->kind == CLI_MODEL) {
        text_format(out, "{ _files; compadd %s }", text_string(&words));
    } else if (o->kind == CLI_FILE) {
        text_add(out, "_files");
    } else if (o->kind == CLI_LIST) {
        text_format(out, "_values -s , word %s", text_string(&words));
    } else if (words.size) {
        text_format(out, "(%s)", text_string(&words));
    } else {
        text_add(out, " ");
    }
    text_free(&words);
}

static void zsh_options(cli_text *out, const cli_option *table) {
    for (; table && table->name; table++) {
        text_add(out, "        ");
        if (table->letter) {
            text_format(out, "'(-%c --%s)'{-%c,--%s}'[", table->letter, table->name, table->letter, table->name);
        } else {
            text_format(out, "'--%s[", table->name);
        }
        zsh_text(out, table->about);
        text_add(out, "]");
        if (table->kind != CLI_FLAG) {
            zsh_action(out, table);
        }
        text_add(out, "' \\\n");
    }
}

static void zsh_verb(cli_text *out, const cli_verb *verb) {
    text_format(out, "    %s)\n        _arguments \\\n", verb->name);
    zsh_options(out, verb->options);
    zsh_options(out, cli_loading_options(verb));
    zsh_options(out, cli_common_options);
    for (const cli_option *a = verb->arguments; a && a->name; a++) {
        text_format(out, "        '%s%s", a->is_list ? "*" : "", a->is_required ? "" : ":");
        zsh_action(out, a);
        text_add(out, "' \\\n");
    }
    text_add(out, "        && return ;;\n");
}

static void write_zsh(cli_text *out) {
    text_add(out, "#compdef karakuri\n# zsh completion of karakuri; written by 'karakuri completion zsh'\n"
                  "_karakuri() {\n    local -a verbs\n    verbs=(\n");
    for (int i = 0; cli_verbs[i]; i++) {
        text_format(out, "        '%s:", cli_verbs[i]->name);
        zsh_text(out, cli_verbs[i]->about);
        text_add(out, "'\n");
    }
    text_add(out, "    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
                  "    local verb=${words[2]}\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for (int i = 0; cli_verbs[i]; i++) {
        zsh_verb(out, cli_verbs[i]);
    }
    text_add(out, "    esac\n}\n"
                  "if [ \"$funcstack[1]\" = \"_karakuri\" ]; then\n    _karakuri \"$@\"\nelse\n    compdef _karakuri "
                  "karakuri\nfi\n");
}

// ---- fish

static void fish_text(cli_text *out, const char *string) {
    text_add(out, "'");
    for (; *string; string++) {
        text_add(out, *string == '\'' || *string == '\\' ? "\\" : "");
        text_add_bytes(out, string, 1);
    }
    text_add(out, "'");
}

static void fish_value(cli_text *out, const cli_option *o) {
    cli_text words = {0};
    add_words(&words, o);
    if (words.size) {
        text_format(out, " -a '%s'", text_string(&words));
    }
    text_free(&words);
}

static void fish_option(cli_text *out, const char *verb, const cli_option *o) {
    text_format(out, "complete -c karakuri -n '__fish_seen_subcommand_from %s' -l %s", verb, o->name);
    if (o->letter) {
        text_format(out, " -s %c", o->letter);
    }
    text_add(out, o->kind == CLI_FLAG ? "" : takes_files(o) || o->kind == CLI_FOLDER ? " -r -F" : " -x");
    fish_value(out, o);
    text_add(out, " -d ");
    fish_text(out, o->about);
    text_add(out, "\n");
}

static void fish_verb(cli_text *out, const cli_verb *verb) {
    text_format(out, "complete -c karakuri -f -n __fish_use_subcommand -a %s -d ", verb->name);
    fish_text(out, verb->about);
    text_add(out, "\n");
    for (const cli_option *o = verb->options; o && o->name; o++) {
        fish_option(out, verb->name, o);
    }
    for (const cli_option *o = cli_loading_options(verb); o && o->name; o++) {
        fish_option(out, verb->name, o);
    }
    for (const cli_option *o = cli_common_options; o->name; o++) {
        fish_option(out, verb->name, o);
    }
    for (const cli_option *a = verb->arguments; a && a->name; a++) {
        text_format(out, "complete -c karakuri -n '__fish_seen_subcommand_from %s'%s", verb->name,
                    takes_files(a) ? " -F" : " -f");
        fish_value(out, a);
        text_add(out, "\n");
    }
}

static void write_fish(cli_text *out) {
    text_add(out, "# fish completion of karakuri; written by 'karakuri completion fish'\n");
    for (int i = 0; cli_verbs[i]; i++) {
        fish_verb(out, cli_verbs[i]);
    }
}

static int run(cli *c, const void *options) {
    void (*const writers[])(cli_text *) = {write_bash, write_zsh, write_fish};
    cli_text script = {0};
    writers[((const completion_options *)options)->shell](&script);
    return cli_print(c, &script);
}

static const cli_term examples[] = {
    {"source <(karakuri completion bash)", "for this bash; put it into ~/.bashrc to keep it"},
    {"karakuri completion zsh > ~/.zfunc/_karakuri", "for zsh, with ~/.zfunc in fpath"},
    {"karakuri completion fish > ~/.config/fish/completions/karakuri.fish", "for fish"},
    {NULL, NULL},
};

const cli_verb cli_verb_completion = {
    .name = "completion",
    .about = "print a completion script for a shell",
    .arguments = arguments,
    .examples = examples,
    .size = sizeof(completion_options),
    .run = run,
};
