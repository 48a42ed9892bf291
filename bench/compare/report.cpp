// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

namespace peal::bench {

std::string full_report(const Results& results, const Choice& choice) {
    return conditions(results) + limits_table(results, choice) + bounds_table(results, choice) +
           ratio_tables(results, choice);
}

std::string further_report(const Results& results, const Choice& choice) {
    return conditions(results) + further_bounds_table(results, choice) +
           ratio_tables(results, choice);
}

std::string hosts_report(const Results& results, const Choice& choice) {
    return conditions(results) + wire_table(results, choice) + hosts_bounds_table(results, choice) +
           ratio_tables(results, choice);
}

}  // namespace peal::bench
