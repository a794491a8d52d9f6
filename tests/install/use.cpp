// The same from C++.
#include <karakuri/karakuri.h>

#include <string>

int main() {
    return std::string(kk_version()) == KK_VERSION ? 0 : 1;
}
