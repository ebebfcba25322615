import Testing

@Suite("MobileServer")
struct MobileServerTests {}
