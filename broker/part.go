package broker

// The parts of a broker. They share its state and its lock, which their methods need unless they say otherwise.
type (
	server  struct{ *Broker } // the connections; its methods take the lock themselves
	handler struct{ *Broker } // what clients ask for
	router  struct{ *Broker } // messages on their way to who subscribed
	keeping struct{ *Broker } // what the storage keeps

	parts struct {
		server  server
		handler handler
		router  router
		keeping keeping
	}
)
