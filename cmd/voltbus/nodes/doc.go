// Package nodes contains the commands for parents and children: invitations, enrolment, provisioning and the state of the tree.
package nodes
