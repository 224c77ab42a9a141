// Package world runs sites with physical models and agents in virtual time, as a file describes them.
//
// Each site is an actor of a kernel, and its agents are another one: a process of the Python SDK that is told each
// moment and answers when its agents have nothing left to do. Between sites, messages go over the links of the file.
package world
