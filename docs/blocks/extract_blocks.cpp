// SPDX-License-Identifier: Apache-2.0
//
// extract_blocks FOLDER PAGES.cpp PAGE.md...: makes one program of the C++ blocks of pages, so that
// a stale block fails the build or the test. Pages are named from FOLDER; PAGES.cpp PAGE.md runs
// the blocks of one.
//
// Each block fenced as cpp becomes a function, and a page's run in order; compilers and failures
// name the page and its line. What a block needs and the reader does not is in HTML comments, which
// no renderer shows:
//
//   <!-- cpp page            lines up to -->, for the whole page: includes, using, declarations
//   <!-- cpp before          lines up to -->, at the beginning of the next block's function
//   <!-- cpp after           lines up to -->, at the end of the last block's function: checks,
//                            check(condition) among them
//   <!-- cpp declarations -->    the next block stands outside functions
//
// #include and #define go to the top, `int main() {` of a whole program becomes a function like any
// other. Not a parser of C++.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Block {
  int line = 0;
  std::string code;
};

struct Page {
  std::string name;
  std::string top;  // #define, then #include
  std::string includes;
  std::string declarations;  // outside functions
  std::vector<Block> blocks;
};

[[noreturn]] void refuse(const Page& page, int line, const std::string& what) {
  std::cerr << page.name << ':' << line << ": " << what << '\n';
  std::exit(2);
}

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

/// Lines up to `end`, each in its place; what belongs at the top goes there.
std::string code_until(Page& page, std::istream& in, int& line, const std::string& end, int from) {
  std::ostringstream code;
  code << "#line " << from + 1 << " \"" << page.name << "\"\n";
  for (std::string text; std::getline(in, text);) {
    ++line;
    if (begins(text, end)) return code.str();
    const bool include = begins(text, "#include");
    if (include || begins(text, "#define")) {
      (include ? page.includes : page.top) += text + '\n';
      code << '\n';
    } else if (begins(text, "int main() {")) {
      code << "{\n";
    } else {
      code << text << '\n';
    }
  }
  refuse(page, from, "this has no end");
}

Page read(const std::string& folder, const std::string& name) {
  Page page;
  page.name = name;
  std::ifstream in(folder + '/' + name);
  if (!in) refuse(page, 0, "cannot be read");
  std::string before;
  bool outside = false;
  int line = 0;
  for (std::string text; std::getline(in, text);) {
    const int from = ++line;
    if (text == "<!-- cpp page") {
      page.declarations += code_until(page, in, line, "-->", from);
    } else if (text == "<!-- cpp before") {
      before += code_until(page, in, line, "-->", from);
    } else if (text == "<!-- cpp after") {
      if (page.blocks.empty()) refuse(page, from, "there is no block before this");
      page.blocks.back().code += code_until(page, in, line, "-->", from);
    } else if (text == "<!-- cpp declarations -->") {
      outside = true;
    } else if (begins(text, "<!-- cpp")) {
      refuse(page, from, "this kind of comment is not known: " + text);
    } else if (text == "```cpp") {
      const std::string code = code_until(page, in, line, "```", from);
      if (outside) {
        page.declarations += code;
      } else {
        page.blocks.push_back({from, before + code});
        before.clear();
      }
      outside = false;
    }
  }
  if (!before.empty()) refuse(page, line, "no block follows the last `before`");
  if (page.blocks.empty()) refuse(page, line, "there is no C++ block");
  return page;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: extract_blocks FOLDER PAGES.cpp PAGE.md...\n";
    return 2;
  }
  std::vector<Page> pages;
  for (int i = 3; i < argc; ++i) pages.push_back(read(argv[1], argv[i]));
  std::ofstream out(argv[2]);
  out << "// Made by extract_blocks.\n";
  for (const Page& page : pages) out << page.top;
  for (const Page& page : pages) out << page.includes;
  out << "#include \"run_blocks.hpp\"\n\nnamespace {\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    out << "\nnamespace page_" << i << " {\n\n" << pages[i].declarations << '\n';
    for (const Block& block : pages[i].blocks)
      out << "void block_at_line_" << block.line << "() {\n" << block.code << "}\n\n";
    out << "}  // namespace page_" << i << '\n';
  }
  out << "\n}  // namespace\n\nint main(int argc, char** argv) {\n  return run_page({\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    out << "    {\"" << pages[i].name << "\", {\n";
    for (const Block& block : pages[i].blocks) {
      out << "      {" << block.line << ", page_" << i << "::block_at_line_" << block.line
          << "},\n";
    }
    out << "    }},\n";
  }
  out << "  }, argc, argv);\n}\n";
  out.close();
  if (!out) {
    std::cerr << argv[2] << ": cannot be written\n";
    return 2;
  }
}
