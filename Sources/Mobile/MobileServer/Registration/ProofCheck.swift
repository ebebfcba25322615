import ODataHTTP

/// The check that a proof belongs to a request (RFC 9449, 4.3; `design-review.md` 23).
///
/// A proof is valid for ``lifetime``. Its age is measured by `iat`, or by its nonce if the clock of the device is off:
/// a proof cannot be older than the nonce in it.
struct ProofCheck: Sendable {
    /// The time for which a proof is valid, in seconds.
    static let lifetime: Int64 = 60

    /// The method of the request.
    var method: String
    /// The external URL of the request: `server.public_url` and the path, without query.
    var url: String
    /// The value of `Authorization`; `nil` if the request has no credentials.
    var authorization: String?
    /// The age of the nonce in seconds; `nil` if it is not valid.
    var nonceAge: Int64?
    /// The time of the server in seconds since 1970.
    var now: Int64

    /// Checks everything but the key and the repetition.
    func check(_ proof: DeviceProof) throws(DeviceProofError) {
        guard proof.method == method else { throw .method }
        guard Self.isSame(proof.url, url) else { throw .url }
        if let authorization {
            guard proof.credentialsHash == DeviceProof.credentialsHash(of: authorization) else { throw .credentials }
        } else if proof.credentialsHash != nil {
            throw .credentials
        }
        guard let nonceAge else { throw .nonce }
        guard (proof.issuedAt - now).magnitude <= UInt64(Self.lifetime) || nonceAge <= Self.lifetime else {
            throw .time
        }
    }

    /// Compares two URLs as RFC 9449, 4.3 (9) requires: scheme and host without regard to case, the default port like
    /// none, percent-encoded bytes like the characters themselves, and without query and fragment.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard let first = ProofURL(left), let second = ProofURL(right) else { return false }
        return first == second
    }
}

/// The parts of a URL that a proof names.
private struct ProofURL: Equatable {
    var isSecure: Bool
    var host: String
    var port: UInt16
    var path: [UInt8]

    init?(_ text: String) {
        let bare = text.prefix { $0 != "?" && $0 != "#" }
        let lower = bare.prefix(8).lowercased()
        let scheme: String
        if lower.hasPrefix("https://") {
            scheme = "https://"
        } else if lower.hasPrefix("http://") {
            scheme = "http://"
        } else {
            return nil
        }
        isSecure = scheme == "https://"
        let rest = bare.dropFirst(scheme.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let authority = Authority(String(rest[..<slash])) else { return nil }
        host = authority.host.lowercased()
        port = authority.port ?? (isSecure ? 443 : 80)
        path = Self.normalized(rest[slash...])
    }

    /// Decodes unreserved characters, and writes the digits of other percent-encoded bytes in upper case
    /// (RFC 3986, 6.2.2).
    private static func normalized(_ path: Substring) -> [UInt8] {
        var result: [UInt8] = []
        var bytes = Array(path.utf8)[...]
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "%"), bytes.count >= 2,
                let value = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16)
            else {
                result.append(byte)
                continue
            }
            bytes = bytes.dropFirst(2)
            let scalar = Character(UnicodeScalar(value))
            if scalar.isASCII, scalar.isLetter || scalar.isNumber || "-._~".contains(scalar) {
                result.append(value)
            } else {
                let digits = String(value, radix: 16, uppercase: true)
                result += Array("%\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            }
        }
        return result.isEmpty ? [UInt8(ascii: "/")] : result
    }
}
