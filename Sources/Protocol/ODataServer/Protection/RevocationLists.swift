import Foundation
import NIOSSL
import SwiftASN1
import Synchronization
import X509

/// The revocation lists of a file, which is read again when it changes.
///
/// A certificate is accepted only if its authority has a valid list that does not contain it. As in OpenSSL, a
/// missing or outdated list refuses all clients of the authority. Only the list of the direct issuer of a
/// client certificate is checked.
final class RevocationLists: Sendable {
    private struct State {
        var lists: [DistinguishedName: RevocationList]
        var version: Version?
        var lastLook: ContinuousClock.Instant
    }

    private struct Version: Equatable {
        var size: Int
        var modified: Date?
        var inode: Int
    }

    /// The minimum time between two checks of the file.
    private static let interval = Duration.seconds(1)

    private let path: String
    private let authorities: [X509.Certificate]
    private let state: Mutex<State>

    /// Reads the lists of a file: several in PEM format or one in DER format.
    ///
    /// - Throws: ``ServerStartError/unusableCertificate(path:reason:)``.
    init(path: String, authorities: [NIOSSLCertificate]) throws(ServerStartError) {
        self.path = path
        let authorities = authorities.compactMap { certificate in
            try? X509.Certificate(derEncoded: certificate.toDERBytes())
        }
        self.authorities = authorities
        let version = Self.version(of: path)
        let lists = try Self.read(path, authorities)
        if let old = lists.values.first(where: { $0.nextUpdate < Date() }) {
            throw .unusableCertificate(path: path, reason: "the list of \(old.issuer) is out of date")
        }
        state = Mutex(State(lists: lists, version: version, lastLook: .now))
    }

    /// Returns a refusal of a client certificate that is revoked or cannot be checked.
    func objection(to certificate: NIOSSLCertificate) -> Refusal? {
        guard let certificate = try? X509.Certificate(derEncoded: certificate.toDERBytes()) else {
            return Self.refusal("The client certificate cannot be read.")
        }
        guard let list = current()[certificate.issuer], list.nextUpdate >= Date() else {
            return Self.refusal("The server has no valid revocation list of the authority of the client certificate.")
        }
        return list.contains(certificate) ? Self.refusal("The client certificate was revoked.") : nil
    }

    private static func refusal(_ message: String) -> Refusal {
        Refusal(status: .forbidden, code: "CertificateRefused", message: message)
    }

    private func current() -> [DistinguishedName: RevocationList] {
        state.withLock { state in
            guard .now - state.lastLook >= Self.interval else { return state.lists }
            state.lastLook = .now
            let version = Self.version(of: path)
            guard version != state.version, let lists = try? Self.read(path, authorities) else { return state.lists }
            state.version = version
            state.lists = lists
            return lists
        }
    }

    private static func version(of path: String) -> Version? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        return Version(
            size: (attributes[.size] as? NSNumber)?.intValue ?? 0, modified: attributes[.modificationDate] as? Date,
            inode: (attributes[.systemFileNumber] as? NSNumber)?.intValue ?? 0)
    }

    private static func read(
        _ path: String, _ authorities: [X509.Certificate]
    ) throws(ServerStartError) -> [DistinguishedName: RevocationList] {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw .unusableCertificate(path: path, reason: "it cannot be read")
        }
        var lists: [DistinguishedName: RevocationList] = [:]
        do {
            for der in try documents(bytes) {
                let list = try RevocationList(der: der, authorities: authorities)
                // Of two lists of one authority, the newer one is used.
                if let other = lists[list.issuer], other.nextUpdate > list.nextUpdate { continue }
                lists[list.issuer] = list
            }
        } catch {
            let problem = error as? RevocationList.Problem ?? .malformed
            throw .unusableCertificate(path: path, reason: problem.description)
        }
        guard !lists.isEmpty else {
            throw .unusableCertificate(path: path, reason: "it holds no revocation list in PEM or DER")
        }
        return lists
    }

    private static func documents(_ bytes: [UInt8]) throws -> [[UInt8]] {
        guard bytes.first != 0x30 else { return [bytes] }
        return try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
            .filter { $0.discriminator == "X509 CRL" }.map(\.derBytes)
    }
}
