import Testing

@Suite("outpostServer")
struct outpostServerTests {}
