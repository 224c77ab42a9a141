// Package network is the BACnet network as the devices of a node share it: one socket for each local address
// ([Sockets]), and who was seen on it ([Directory]). It asks devices nothing.
package network
