// Package agents has the commands for agents: their identities and grants, their programs, and calls of their methods.
package agents
