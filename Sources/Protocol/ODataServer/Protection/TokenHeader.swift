import Foundation

/// The rules for the header of a signed token (RFC 7515, 4.1) that JWTKit leaves to its callers.
enum TokenHeader {
    /// Whether a token may be verified at all.
    ///
    /// A header with `crit` names extensions that must be understood (4.1.11), and none is. So is a payload that is not
    /// encoded (`b64`, RFC 7797). A `typ` says that the token is no JSON Web Token unless it is one of these (RFC 7519, 5.1;
    /// RFC 9068, 2.1): an ID token of another protocol, such as a logout token, is none to sign in with.
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
    /// The set without keys for encryption, without keys that are not to verify, and without symmetric ones: whoever can
    /// read a published set could sign with these.
    ///
    /// - Throws: `CocoaError` if the text is no key set.
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
