import ErrorCodes
import MobileServer
import ServerState
import Testing

@Suite("The errors of the mobile server")
struct ServerErrorTests {
    private static let types: [any Error.Type] = [
        CertificateRequestError.self, ConfigurationError.self, DestinationCredentialsError.self, DeviceProofError.self,
        FeedCommandError.self, SecretResolverError.self, ServerFolderError.self, ServerKeyError.self,
        ServerStateError.self,
    ]

    @Test("Each of these errors has a code")
    func codes() {
        for type in Self.types { #expect(type is any CodedError.Type, "\(type) has no code") }
    }
}
