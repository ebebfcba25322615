import Crypto
import CryptoExtras
import ErrorCodes
import Foundation
import SwiftASN1
import X509

/// A request for a device certificate (PKCS#10, RFC 2986) with a valid signature.
///
/// Only the public key counts. The server chooses the subject and the extensions, so that a device cannot ask for
/// another name.
public struct CertificateRequest: Sendable {
    /// The public key of the device: P-256, or RSA with 3072 bits.
    public let publicKey: Certificate.PublicKey

    /// The maximum number of bytes of a request.
    public static let maxLength = 8192
    /// The number of bits of an RSA key.
    public static let bitsOfRSA = 3072

    /// Parses a request.
    ///
    /// - Parameter bytes: The request in DER, or in PEM.
    /// - Throws: ``CertificateRequestError``.
    public init(_ bytes: [UInt8]) throws(CertificateRequestError) {
        guard bytes.count <= Self.maxLength else { throw .tooLong(bytes: bytes.count) }
        let request: CertificateSigningRequest
        do {
            if bytes.starts(with: Array("-----BEGIN".utf8)) {
                request = try CertificateSigningRequest(pemEncoded: String(decoding: bytes, as: UTF8.self))
            } else {
                request = try CertificateSigningRequest(derEncoded: bytes)
            }
        } catch {
            throw .malformed
        }
        let key = request.publicKey
        guard Self.isAccepted(key) else { throw .key }
        guard key.isValidSignature(request.signature, for: request) else { throw .signature }
        publicKey = key
    }

    private static func isAccepted(_ key: Certificate.PublicKey) -> Bool {
        if P256.Signing.PublicKey(key) != nil { return true }
        return _RSA.Signing.PublicKey(key)?.keySizeInBits == bitsOfRSA
    }
}

/// The reason why a certificate request is refused.
public enum CertificateRequestError: Error, Hashable, Sendable {
    /// The request has more bytes than ``CertificateRequest/maxLength``.
    case tooLong(bytes: Int)
    /// The bytes are no certificate request.
    case malformed
    /// The key is neither P-256 nor RSA with 3072 bits.
    case key
    /// The signature does not belong to the key.
    case signature
}

extension CertificateRequestError: CustomStringConvertible {
    /// The reason and the expected value.
    public var description: String {
        switch self {
        case .tooLong(let bytes):
            "The certificate request has \(bytes) bytes. The limit is \(CertificateRequest.maxLength)."
        case .malformed: "The certificate request is no PKCS#10 in DER or PEM."
        case .key: "The key of the certificate request is neither P-256 nor RSA with 3072 bits."
        case .signature: "The signature of the certificate request is invalid."
        }
    }
}

extension CertificateRequestError: CodedError {
    /// The code `certificate-request.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .tooLong: "too-long"
            case .malformed: "malformed"
            case .key: "key"
            case .signature: "signature"
            }
        return ErrorCode(rawValue: "certificate-request.\(name)")
    }

    /// Always `FailureKind.request`.
    public var failureKind: FailureKind { .request }
}
