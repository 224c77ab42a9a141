package identity

import (
	"context"
	"time"
)

// User is a person or program that was recognised.
type User struct {
	Name string
	Role Role
	// Under bounds where a token for recording may record: the path and all below it; "" for
	// anywhere, and for everybody else.
	Under string
}

// Purpose is what a credential is for.
type Purpose string

// The purposes.
const (
	Token   Purpose = "token"   // shown by programs on every request
	Session Purpose = "session" // made by a login, held by a browser, ends by itself
	Record  Purpose = "record"  // shown by programs that may record readings and nothing else
	Peer    Purpose = "member"  // shown by another member of a cluster of metering data systems, for what members ask and nothing else
)

// Credential is a secret for authentication, without the secret: only its hash is kept.
type Credential struct {
	Hash    Hash
	User    User
	Purpose Purpose
	Parent  Hash // the token that a session was made with; zero for tokens
	Created time.Time
	Expires time.Time // zero: never

	ID, Name string // of a token that somebody made for programs; "" for others
	// Most bounds the role that User has here; Nobody for no bound.
	Most Role
}

// Member is a public key that is allowed on the bus.
type Member struct {
	Public  string // nkey, such as "UABC…"
	Name    string
	Role    Role
	Created time.Time
}

// Account is a user as the accounts keep it.
type Account struct {
	User
	Created  time.Time
	Password string // encoded, see hashPassword; "" for a user who logs in by tokens only
	Tokens   int    // how many the user has
}

// Accounts is where users, credentials and members are kept. All methods are safe for concurrent
// use and durable when they return.
type Accounts interface {
	// PutUser adds the user or changes the role of an existing one.
	PutUser(ctx context.Context, u User) error
	// PutPassword is PutUser, and sets the encoded password and ends the user's sessions.
	PutPassword(ctx context.Context, u User, encoded string) error
	// Account returns a user; fault.NotFound if there is none.
	Account(ctx context.Context, name string) (Account, error)
	// Users lists all users by name.
	Users(ctx context.Context) ([]Account, error)
	// DropUser removes a user with everything that belongs to it; fault.NotFound if there is
	// none.
	DropUser(ctx context.Context, name string) error

	// PutCredential adds a credential of an existing user.
	PutCredential(ctx context.Context, c Credential) error
	// Credential returns the credential with the role that its user has now, within its bound,
	// expired or not; fault.NotFound if there is none.
	Credential(ctx context.Context, hash Hash) (Credential, error)
	// Credentials lists those of a purpose by the names of their users.
	Credentials(ctx context.Context, purpose Purpose) ([]Credential, error)
	// CredentialsOf lists those of a user by age.
	CredentialsOf(ctx context.Context, user string) ([]Credential, error)
	// DropCredential removes the credential and all that were made with it. It is no error
	// if there is none.
	DropCredential(ctx context.Context, hash Hash) error
	// DropTokens removes all tokens of the user with everything that was made with them.
	DropTokens(ctx context.Context, user string) error
	// DropExpired removes the credentials that ended before now.
	DropExpired(ctx context.Context, now time.Time) error

	// PutMember adds a member or changes the name and role of an existing one.
	PutMember(ctx context.Context, m Member) error
	// Members lists all members by name.
	Members(ctx context.Context) ([]Member, error)
	// DropMember removes the member with the public key; fault.NotFound if there is none.
	DropMember(ctx context.Context, public string) error
}
