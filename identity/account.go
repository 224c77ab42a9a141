package identity

import (
	"context"
	"time"
)

// User is a person or program that was authenticated.
type User struct {
	Name string
	Role Role
	// Under is the path at and below which a record-only token may record; "" for anywhere, and for all other
	// users.
	Under string
}

// Purpose is the purpose of a credential.
type Purpose string

// The purposes.
const (
	Token   Purpose = "token"   // sent by programs with every request
	Session Purpose = "session" // created by a login, held by a browser, expires
	Record  Purpose = "record"  // sent by programs that may only record readings
	Peer    Purpose = "member"  // sent by another member of a metering cluster, for requests between members only
)

// Credential is a secret for authentication, without the secret: only its hash is kept.
type Credential struct {
	Hash    Hash
	User    User
	Purpose Purpose
	Parent  Hash // the token that created a session; zero for tokens
	Created time.Time
	Expires time.Time // zero: never

	ID, Name string // of a token created for programs; "" for others
	// Most limits the role of User here; Nobody for no limit.
	Most Role
}

// Member is a public key that is allowed on the bus.
type Member struct {
	Public  string // nkey, such as "UABC…"
	Name    string
	Role    Role
	Created time.Time
}

// Account is a user as stored in Accounts.
type Account struct {
	User
	Created  time.Time
	Password string // encoded, see hashPassword; "" for a user who logs in only with tokens
	Tokens   int    // how many the user has
}

// Accounts stores users, credentials and members. All methods are safe for concurrent use and durable when
// they return.
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
	// Credential returns the credential with its user's current role, within its limit, expired or not;
	// fault.NotFound if there is none.
	Credential(ctx context.Context, hash Hash) (Credential, error)
	// Credentials lists those of a purpose by user name.
	Credentials(ctx context.Context, purpose Purpose) ([]Credential, error)
	// CredentialsOf lists the credentials of a user by age.
	CredentialsOf(ctx context.Context, user string) ([]Credential, error)
	// DropCredential removes the credential and all that were created with it. It is no error if there is
	// none.
	DropCredential(ctx context.Context, hash Hash) error
	// DropTokens removes all tokens of the user with everything created with them.
	DropTokens(ctx context.Context, user string) error
	// DropExpired removes the credentials that expired before now.
	DropExpired(ctx context.Context, now time.Time) error

	// PutMember adds a member or changes the name and role of an existing one.
	PutMember(ctx context.Context, m Member) error
	// Members lists all members by name.
	Members(ctx context.Context) ([]Member, error)
	// DropMember removes the member with the public key; fault.NotFound if there is none.
	DropMember(ctx context.Context, public string) error
}
