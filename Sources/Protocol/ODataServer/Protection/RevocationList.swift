import Foundation
import SwiftASN1
import X509

/// A certificate revocation list of one authority (RFC 5280, 5).
struct RevocationList: Sendable {
    let issuer: DistinguishedName
    /// The time at which a newer list is published at the latest.
    let nextUpdate: Date
    private let serialNumbers: Set<[UInt8]>

    func contains(_ certificate: X509.Certificate) -> Bool {
        serialNumbers.contains(Self.normalized(certificate.serialNumber.bytes))
    }

    /// Reads a list and verifies its signature.
    ///
    /// - Parameters:
    ///   - bytes: The list in DER format.
    ///   - authorities: The certificates of which one must have signed the list.
    /// - Throws: ``Problem``, or an error of SwiftASN1 for invalid bytes.
    init(der bytes: [UInt8], authorities: [X509.Certificate]) throws {
        var list = try Self.children(DER.parse(bytes)).makeIterator()
        guard let signed = list.next(), let algorithm = list.next(), let signature = list.next(), list.next() == nil
        else { throw Problem.malformed }
        var fields = try Self.children(signed).makeIterator()
        var field = fields.next()
        if field?.identifier == .integer { field = fields.next() }
        guard field != nil, let issuer = fields.next(), fields.next() != nil else { throw Problem.malformed }
        self.issuer = try DistinguishedName(derEncoded: issuer)
        field = fields.next()
        guard let time = field, let nextUpdate = try Self.time(time) else { throw Problem.withoutEnd }
        self.nextUpdate = nextUpdate
        field = fields.next()
        var serialNumbers: Set<[UInt8]> = []
        if let entries = field, entries.identifier == .sequence {
            for entry in try Self.children(entries) {
                guard let number = try Self.children(entry).first, case .primitive(let bytes) = number.content else {
                    throw Problem.malformed
                }
                serialNumbers.insert(Self.normalized(bytes))
            }
            field = fields.next()
        }
        self.serialNumbers = serialNumbers
        if let extensions = field { try Self.refuseCritical(extensions) }
        let kind = try Self.algorithm(algorithm)
        let bits = try ASN1BitString(derEncoded: signature)
        let isSigned = authorities.contains { [subject = self.issuer] in
            $0.subject == subject
                && $0.publicKey.isValidSignature(bits.bytes, for: signed.encodedBytes, signatureAlgorithm: kind)
        }
        guard isSigned else { throw Problem.notSigned }
    }

    /// The reason why a list cannot be used.
    enum Problem: Error, CustomStringConvertible {
        case malformed
        case withoutEnd
        case unknownAlgorithm
        case criticalExtension
        case notSigned

        var description: String {
            switch self {
            case .malformed: "it holds something that is no revocation list"
            case .withoutEnd: "a list in it does not say until when it is valid"
            case .unknownAlgorithm: "a list in it is signed by an algorithm that is not known here"
            case .criticalExtension: "a list in it is a part of one, or of another kind than is read here"
            case .notSigned: "no certificate of the client authorities has signed a list in it"
            }
        }
    }

    private static func children(_ node: ASN1Node) throws -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else { throw Problem.malformed }
        return Array(nodes)
    }

    /// Returns a serial number without leading zeros.
    private static func normalized(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(bytes.drop { $0 == 0 }) }

    private static func time(_ node: ASN1Node) throws -> Date? {
        var parts = DateComponents()
        switch node.identifier {
        case .utcTime:
            let time = try UTCTime(derEncoded: node)
            (parts.year, parts.month, parts.day) = (time.year, time.month, time.day)
            (parts.hour, parts.minute, parts.second) = (time.hours, time.minutes, time.seconds)
        case .generalizedTime:
            let time = try GeneralizedTime(derEncoded: node)
            (parts.year, parts.month, parts.day) = (time.year, time.month, time.day)
            (parts.hour, parts.minute, parts.second) = (time.hours, time.minutes, time.seconds)
        default: return nil
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: parts)
    }

    /// Throws an error for a critical extension. A list with an unknown critical extension must not be used
    /// (RFC 5280, 5.2), and none is supported.
    private static func refuseCritical(_ node: ASN1Node) throws {
        for list in try children(node) {
            for item in try children(list) {
                let isCritical = try children(item).contains { try $0.identifier == .boolean && Bool(derEncoded: $0) }
                guard !isCritical else { throw Problem.criticalExtension }
            }
        }
    }

    private static func algorithm(_ node: ASN1Node) throws -> X509.Certificate.SignatureAlgorithm {
        guard let name = try children(node).first else { throw Problem.malformed }
        switch try ASN1ObjectIdentifier(derEncoded: name) {
        case [1, 2, 840, 10045, 4, 3, 2]: return .ecdsaWithSHA256
        case [1, 2, 840, 10045, 4, 3, 3]: return .ecdsaWithSHA384
        case [1, 2, 840, 10045, 4, 3, 4]: return .ecdsaWithSHA512
        case [1, 2, 840, 113549, 1, 1, 11]: return .sha256WithRSAEncryption
        case [1, 2, 840, 113549, 1, 1, 12]: return .sha384WithRSAEncryption
        case [1, 2, 840, 113549, 1, 1, 13]: return .sha512WithRSAEncryption
        case [1, 3, 101, 112]: return .ed25519
        default: throw Problem.unknownAlgorithm
        }
    }
}
