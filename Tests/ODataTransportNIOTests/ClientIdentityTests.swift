import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import ODataTransportConformance
import ODataTransportNIO
import Testing
import X509

/// Client certificates, over real TLS.
@Suite("Client certificates") struct ClientIdentityTests {
    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    /// The outcome of a request to a server that accepts the certificates of an authority except some serial
    /// numbers.
    private func outcome(
        _ certificates: TestCertificates, identity: ClientIdentity?,
        revoked: [Certificate.SerialNumber] = [], asOption: Bool = false
    ) async throws -> TransportError? {
        let server = try certificates.certificate(names: ["localhost"])
        let peer = try await RawPeer(
            sends: Self.hello, then: .keep, tls: try certificates.context(server, asksClients: true)
        ) { chain in
            guard let bytes = try? chain.first?.toDERBytes(), let leaf = try? Certificate(derEncoded: bytes) else {
                return false
            }
            return !revoked.contains(leaf.serialNumber)
        }
        let trust = ServerTrust(authorities: .only(.file(certificates.authority)))
        let result = try await withTransport(
            .init(trust: trust, clientIdentity: asOption ? nil : identity)
        ) { transport in
            do {
                let request = HTTPRequest(
                    method: .post, scheme: "https", authority: "localhost:\(peer.port)", path: "/")
                let options = TransferOptions(clientIdentity: asOption ? identity : nil)
                let (_, body) = try await transport.send(request, body: ByteStream([1]), options: options)
                #expect(try await body.collect(limit: 10) == Array("hello".utf8))
                return nil as TransportError?
            } catch let error as TransportError {
                return error
            }
        }
        try await peer.stop()
        return result
    }

    @Test func `PEM and PKCS#12 are shown, by the transport or by a request`() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.certificate("ann", uses: [.clientAuth])
        let pem = ClientIdentity.pem(chain: Array(try pair.pem.utf8), key: Array(try pair.keyPEM.utf8))
        let archive = ClientIdentity.pkcs12(try certificates.archive(pair, passphrase: "sesame"), passphrase: "sesame")
        for identity in [pem, archive] {
            for asOption in [false, true] {
                #expect(try await outcome(certificates, identity: identity, asOption: asOption) == nil)
            }
        }
    }

    @Test func `a revoked certificate is refused, and so is none, and nothing has acted`() async throws {
        let certificates = try TestCertificates()
        let pair = try certificates.certificate("mallory")
        let identity = ClientIdentity.pem(chain: Array(try pair.pem.utf8), key: Array(try pair.keyPEM.utf8))
        for (identity, revoked) in [(identity as ClientIdentity?, [pair.serial]), (nil, [])] {
            let error = try await outcome(certificates, identity: identity, revoked: revoked)
            guard case .clientCertificateRefused? = error else {
                Issue.record("\(error.map(String.init(describing:)) ?? "it was accepted")")
                continue
            }
            #expect(error?.isCertainlyUnsent == true)
        }
    }

    @Test func `an identity that cannot be used is told when the transport is made`() throws {
        let certificates = try TestCertificates()
        let archive = try certificates.archive(try certificates.certificate(), passphrase: "right")
        for identity in [
            ClientIdentity.pkcs12(archive, passphrase: "wrong"), .pkcs12([1, 2, 3], passphrase: nil),
            .pem(chain: [], key: []),
            .pem(chain: Array(try certificates.root.pem.utf8), key: Array(try certificates.certificate().keyPEM.utf8)),
            .pem(chain: Array(try certificates.root.pem.utf8), key: Array("no key".utf8)),
        ] {
            let error = #expect(throws: TransportConfigurationError.self) {
                _ = try NIOTransport(configuration: .init(clientIdentity: identity))
            }
            #expect(error?.description.contains("wrong\"") == false)
        }
    }
}
