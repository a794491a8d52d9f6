// The tool's main() under another name, for karakuri_collect.
#define main karakuri_tool_main
int karakuri_tool_main(int argc, char **argv);
#include "../../tools/cli/main.c" // NOLINT(bugprone-suspicious-include): the tool itself
