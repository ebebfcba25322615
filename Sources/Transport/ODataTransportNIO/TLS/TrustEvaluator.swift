import Crypto
import Foundation
import NIOSSL
import ODataHTTP
import SwiftASN1
import X509

/// Evaluates whether a certificate chain is valid for a host (RFC 5280, 6; RFC 9525).
struct TrustEvaluator: Sendable {
    let origin: Origin
    let trust: ServerTrust
    let authorities: TrustAuthorities

    /// Returns the reason for which a chain is refused, or `nil` if it is accepted.
    func refusal(of presented: [NIOSSLCertificate]) async -> String? {
        let chain: [X509.Certificate]
        do {
            chain = try presented.map { try X509.Certificate(derEncoded: try $0.toDERBytes()) }
        } catch {
            return "it cannot be read (\(error))"
        }
        guard let leaf = chain.first else { return "the server showed none" }
        let valid = await validated(leaf, intermediates: chain.dropFirst(), for: origin)
        guard let valid else {
            let reason = await diagnosis(leaf, intermediates: chain.dropFirst())
            // Without a trusted authority, only the key of the leaf certificate is proven to be the server's.
            guard isPinned([leaf]) else { return "none of its keys is pinned, and \(reason)" }
            guard let decide = trust.decide else { return reason }
            let certificates = chain.map { ServerCertificate($0) }
            let question = ServerTrustQuestion(
                host: origin.host, port: origin.port, chain: certificates, reason: reason)
            return await decide(question) ? nil : reason
        }
        return isPinned(valid) ? nil : "none of its keys is pinned"
    }

    private func isPinned(_ chain: [X509.Certificate]) -> Bool {
        trust.pins.isEmpty || chain.contains { trust.pins.contains($0.pin) }
    }

    /// Returns the chain up to an authority, or `nil` if there is none or the certificate is for another host.
    private func validated(
        _ leaf: X509.Certificate, intermediates: ArraySlice<X509.Certificate>, for origin: Origin?
    ) async -> [X509.Certificate]? {
        var verifier = Verifier(rootCertificates: authorities.store) {
            RFC5280Policy()
            ServerUsePolicy()
            if let origin {
                ServerIdentityPolicy(
                    serverHostname: origin.isAddress ? nil : origin.host,
                    serverIP: origin.isAddress ? origin.host : nil)
            }
        }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(intermediates))
        guard case .validCertificate(let chain) = result else { return nil }
        return Array(chain)
    }

    /// Returns the reason why a chain is invalid, the simplest one first.
    private func diagnosis(
        _ leaf: X509.Certificate, intermediates: ArraySlice<X509.Certificate>
    ) async -> String {
        let now = Date()
        if leaf.notValidAfter < now { return "it expired on \(leaf.notValidAfter.day)" }
        if leaf.notValidBefore > now { return "it is not valid before \(leaf.notValidBefore.day)" }
        if await validated(leaf, intermediates: intermediates, for: nil) != nil {
            let names = leaf.names
            let list = names.isEmpty ? "no host" : names.prefix(8).joined(separator: ", ")
            return origin.isAddress
                ? "it names \(list), and not the address \(origin.host); use the server's name instead of its address"
                : "it names another host (\(list))"
        }
        if let expired = intermediates.first(where: { $0.notValidAfter < now }) {
            return "the certificate above it, of \(expired.subject), expired on \(expired.notValidAfter.day)"
        }
        return "no trusted authority vouches for it"
    }
}

/// A certificate with an extended key usage must allow server authentication (RFC 5280, 4.2.1.12).
private struct ServerUsePolicy: VerifierPolicy {
    var verifyingCriticalExtensions: [ASN1ObjectIdentifier] { [.X509ExtensionID.extendedKeyUsage] }

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) async -> PolicyEvaluationResult {
        let uses: ExtendedKeyUsage?
        do {
            uses = try chain.leaf.extensions.extendedKeyUsage
        } catch {
            return .failsToMeetPolicy(reason: "its extended key usage cannot be read")
        }
        guard let uses, !uses.contains(.serverAuth), !uses.contains(.any) else { return .meetsPolicy }
        return .failsToMeetPolicy(reason: "it is not for servers")
    }
}

extension Date {
    fileprivate var day: String { String(ISO8601DateFormatter().string(from: self).prefix(10)) }
}

extension X509.Certificate {
    /// The SHA-256 digest of the public key, as used in pins.
    fileprivate var pin: String {
        Data(SHA256.hash(data: Data(publicKey.subjectPublicKeyInfoBytes))).base64EncodedString()
    }

    /// The host names and addresses in the certificate.
    fileprivate var names: [String] {
        guard let alternatives = try? extensions.subjectAlternativeNames else { return [] }
        return alternatives.compactMap { name in
            switch name {
            case .dnsName(let name): return name
            case .ipAddress(let address):
                let bytes = Array(address.bytes)
                if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
                return stride(from: 0, to: bytes.count - 1, by: 2)
                    .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
            default: return nil
            }
        }
    }
}

extension DistinguishedName {
    fileprivate var commonName: String? {
        for relative in self {
            for attribute in relative where attribute.type == .RDNAttributeType.commonName {
                return attribute.value.description
            }
        }
        return nil
    }
}

extension ServerCertificate {
    init(_ certificate: X509.Certificate) {
        var serializer = DER.Serializer()
        // Writing a parsed certificate does not fail; without bytes, no fingerprint could match.
        try? serializer.serialize(certificate)
        let bytes = serializer.serializedBytes
        func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        self.init(
            subject: certificate.subject.description, commonName: certificate.subject.commonName,
            issuer: certificate.issuer.description, issuerCommonName: certificate.issuer.commonName,
            serialNumber: hexadecimal(certificate.serialNumber.bytes),
            notBefore: Int64(certificate.notValidBefore.timeIntervalSince1970),
            notAfter: Int64(certificate.notValidAfter.timeIntervalSince1970), names: certificate.names,
            fingerprint: hexadecimal(SHA256.hash(data: bytes)), pin: certificate.pin, bytes: bytes)
    }
}
