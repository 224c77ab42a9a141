// Package lease gives each device, and whatever else must not be used by two replicas at once, to exactly one of them. Who has what is
// in a replicated stream, which is only written by somebody who has read all of it. A replica proves every second that it is there, with
// a message in the same stream. It stops using what it has when it could not prove that for Use, and another one takes over after Term.
package lease
