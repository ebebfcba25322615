import Testing

@Suite("ServerState")
struct ServerStateTests {}
