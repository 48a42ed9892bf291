# cmake -D DIRECTORY=<include directory> -D OUTPUT=<file.cpp> -P embed.cmake
#
# Writes the files of a directory as string literals.
file(GLOB_RECURSE files RELATIVE ${DIRECTORY} ${DIRECTORY}/*.h ${DIRECTORY}/*.hpp)
list(SORT files)
set(code "// Made from the headers in include/pto.\n#include \"pto/embedded.hpp\"\n\n")
string(APPEND code "namespace peal::pto {\nnamespace {\n\nconstexpr EmbeddedFile kFiles[] = {\n")
foreach(file ${files})
    file(READ ${DIRECTORY}/${file} text)
    string(APPEND code "    {\"${file}\", R\"PEAL_FILE(${text})PEAL_FILE\"},\n")
endforeach()
string(APPEND code "};\n\n}  // namespace\n\n")
string(APPEND code "std::span<const EmbeddedFile> embedded_headers() { return kFiles; }\n\n}  // namespace peal::pto\n")
file(WRITE ${OUTPUT} "${code}")
