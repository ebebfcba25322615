import Foundation

/// The checks of a signed token's header (RFC 7515, 4.1) that JWTKit leaves to its callers.
enum TokenHeader {
    /// Returns whether a token may be verified.
    ///
    /// A header with `crit` requires extensions (4.1.11), and none is supported. An unencoded payload (`b64`,
    /// RFC 7797) is not supported either. A `typ` must be that of a JSON Web Token or an access token (RFC
    /// 7519, 5.1; RFC 9068, 2.1). Tokens for other purposes, such as logout tokens, are therefore refused.
    static func isAcceptable(in token: String) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isBase64URL) }),
            let data = decoded(parts[0]),
            let header = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return false }
        guard header["crit"] == nil, header["b64"] == nil else { return false }
        guard let type = header["typ"] else { return true }
        guard let name = (type as? String)?.lowercased() else { return false }
        let short = name.hasPrefix("application/") ? String(name.dropFirst("application/".count)) : name
        return ["jwt", "at+jwt"].contains(short)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func decoded(_ text: Substring) -> Data? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}

/// The keys of a published set that may verify signatures (RFC 7517, 4.2 and 4.3).
enum SigningKeys {
    /// Returns the set without keys for encryption, keys that must not verify, and symmetric keys. Anyone who
    /// can read a published set could sign tokens with a symmetric key.
    ///
    /// - Throws: `CocoaError` if the text is not a key set.
    static func only(_ data: Data) throws -> Data {
        guard var set = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let keys = set["keys"] as? [[String: Any]]
        else { throw CocoaError(.fileReadCorruptFile) }
        set["keys"] = keys.filter { key in
            guard let type = key["kty"] as? String, ["RSA", "EC", "OKP"].contains(type) else { return false }
            if let use = key["use"], use as? String != "sig" { return false }
            guard let operations = key["key_ops"] else { return true }
            return (operations as? [String])?.contains("verify") ?? false
        }
        return try JSONSerialization.data(withJSONObject: set)
    }
}
