# cmake -D INPUT=<file> -D NAME=<function> -D OUTPUT=<file.cpp> -P embed_text.cmake
#
# Writes a text file as a function of peal::cli that returns it.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include \"cli/broken.hpp\"\n\nnamespace peal::cli {\n\n"
                     "std::string_view ${NAME}() { return R\"PEAL_FILE(${text})PEAL_FILE\"; }\n\n"
                     "}  // namespace peal::cli\n")
