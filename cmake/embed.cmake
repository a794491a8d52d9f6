# Writes a file's bytes as a C array: cmake -DINPUT=… -DOUTPUT=… -DNAME=… -P embed.cmake
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
file(WRITE ${OUTPUT} "// made from ${NAME}; do not edit\n#include <stddef.h>\nextern const char ${NAME}[];\nextern const size_t ${NAME}_size;\n"
    "const char ${NAME}[] = {${bytes} 0};\nconst size_t ${NAME}_size = ${size};\n")
