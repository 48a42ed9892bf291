// SPDX-License-Identifier: Apache-2.0
// A question by signal to a rank that no launcher of ours looks after: where do all stand? The next
// wait of a call answers it.
#pragma once

namespace peal::shm {

// From now on SIGQUIT is such a question, unless the program handles it. One that comes while
// another has no answer, since this process waits in no call, does what it did before.
void take_questions();

// Whether somebody has asked; who is told so answers.
bool take_question();

}  // namespace peal::shm
