import Testing

@testable import ServerState

@Suite("Names in the audit") struct AuditNamesTests {
    @Test(
        "A name is replaced where it stands alone, and parts of other names stay",
        arguments: [
            ("shop/ann", "shop/p-1"), ("shop/anna", "shop/anna"), ("shop/joann", "shop/joann"), ("ann", "p-1"),
            ("ann/ann", "p-1/p-1"), ("shop/ann-marie", "shop/ann-marie"), (#"{"user":"ann"}"#, #"{"user":"p-1"}"#),
            ("annann", "annann"), ("", ""),
        ])
    func names(text: String, expected: String) {
        #expect(AuditChain.replacing("ann", with: "p-1", in: text) == expected)
    }
}
