import Foundation
import MobileProtocol
import ODataService
import SwiftASN1
import Synchronization
import X509

/// The authorities of client certificates that a security configuration names in a PEM file.
///
/// TLS accepts the authorities of all applications. A certificate signs a user in only if an authority of this file has
/// issued it.
final class CertificateAuthorities: Sendable {
    /// The maximum size of a file in bytes.
    private static let sizeLimit = 1 << 20

    private struct Known {
        var modified: Date
        var certificates: [Certificate]
    }

    private let folder: String
    private let known = Mutex<[String: Known]>([:])

    /// Creates the authorities; relative paths are in the data folder.
    init(folder: String) { self.folder = folder }

    /// Returns whether an authority of a file has issued a certificate.
    ///
    /// - Parameter bytes: The certificate in DER.
    /// - Throws: ``ODataError`` 503 if the file cannot be read.
    func hasIssued(_ bytes: [UInt8], file: String) throws(ODataError) -> Bool {
        guard let certificate = try? Certificate(derEncoded: bytes) else { return false }
        return try certificates(in: file).contains { authority in
            authority.subject == certificate.issuer
                && authority.publicKey.isValidSignature(certificate.signature, for: certificate)
        }
    }

    /// Returns the certificates of a file, which is read again after it was changed.
    func certificates(in file: String) throws(ODataError) -> [Certificate] {
        let path = file.hasPrefix("/") ? file : folder + "/" + file
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let modified = attributes[.modificationDate] as? Date ?? .distantPast
            if let known = known.withLock({ $0[path] }), known.modified == modified { return known.certificates }
            guard let size = attributes[.size] as? Int, size <= Self.sizeLimit else { throw Self.unavailable }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let certificates = try PEMDocument.parseMultiple(pemString: text).map { document in
                try Certificate(pemDocument: document)
            }
            known.withLock { $0[path] = Known(modified: modified, certificates: certificates) }
            return certificates
        } catch {
            throw Self.unavailable
        }
    }

    private static let unavailable = ODataError(
        .busy, "The authorities of client certificates cannot be read. Tell the operator.", retryAfter: 60)
}
