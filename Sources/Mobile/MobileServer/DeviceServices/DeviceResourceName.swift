/// The name of a resource below the service root: a set, its key, and `/$value`.
///
/// ```
/// Uploads   Uploads('ID')   Shared(Scope='user',Key='a')/$value
/// ```
struct DeviceResourceName: Hashable, Sendable {
    /// The maximum number of bytes.
    static let maxLength = 2048

    /// The name of the set.
    var set: String
    /// The key by property; a key without names has the name `""`. `nil` for the set itself.
    var key: [String: String]?
    /// Whether the path ends with `/$value`.
    var isValue = false

    /// The text of a key with one value.
    var id: String? { key?[""] ?? key?["ID"] }

    /// Reads a decoded path; `nil` if it has another form.
    init?(_ path: String) {
        var bytes = Array(path.utf8)[...]
        guard bytes.count <= Self.maxLength else { return nil }
        let name = bytes.prefix { Self.isNameByte($0) }
        guard !name.isEmpty else { return nil }
        set = String(decoding: name, as: UTF8.self)
        bytes = bytes.dropFirst(name.count)
        if bytes.first == UInt8(ascii: "(") {
            guard let key = Self.key(&bytes) else { return nil }
            self.key = key
        }
        switch String(decoding: bytes, as: UTF8.self) {
        case "": break
        case "/$value" where key != nil: isValue = true
        default: return nil
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: false
        }
    }

    /// Reads a key with its brackets.
    private static func key(_ bytes: inout ArraySlice<UInt8>) -> [String: String]? {
        bytes = bytes.dropFirst()
        var key: [String: String] = [:]
        while true {
            var name = ""
            if bytes.first != UInt8(ascii: "'") {
                let text = bytes.prefix { isNameByte($0) }
                bytes = bytes.dropFirst(text.count)
                guard !text.isEmpty, bytes.first == UInt8(ascii: "=") else { return nil }
                bytes = bytes.dropFirst()
                name = String(decoding: text, as: UTF8.self)
            }
            guard let value = text(&bytes), key.updateValue(value, forKey: name) == nil else { return nil }
            switch bytes.popFirst() {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: ")"): return key.count == 1 || key[""] == nil ? key : nil
            default: return nil
            }
        }
    }

    /// Reads a text in quotation marks, in which two stand for one.
    private static func text(_ bytes: inout ArraySlice<UInt8>) -> String? {
        let mark = UInt8(ascii: "'")
        guard bytes.popFirst() == mark else { return nil }
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            if byte == mark {
                guard bytes.first == mark else { return String(validating: text, as: UTF8.self) }
                bytes = bytes.dropFirst()
            }
            text.append(byte)
        }
        return nil
    }
}
