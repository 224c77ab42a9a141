// Package agents contains the commands for agents: identities and grants, programs, and calls of their methods.
package agents
