/// A media type or media range with its parameters (RFC 9110, 8.3.1 and 12.5.1).
///
/// An example is `application/json;odata.metadata=minimal` (OData JSON Format 4.01, 3).
///
/// ```swift
/// let type = MediaType("application/json;odata.metadata=minimal")
/// show(type?.type ?? "", type?.subtype ?? "")
/// ```
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// The main type in lower case; `*` in a range.
    public var type: String
    /// The subtype in lower case; `*` in a range.
    public var subtype: String
    /// The parameters in order with names in lower case, without `q`.
    public var parameters: [Parameter]
    /// The weight in a list of media ranges, in thousandths from 0 to 1000.
    public var weight: Int

    /// A parameter of a media type.
    public struct Parameter: Hashable, Sendable {
        /// The name in lower case.
        public var name: String
        /// The value, unquoted.
        public var value: String

        /// Creates a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a media type.
    public init(_ type: String, _ subtype: String, parameters: [Parameter] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
        weight = 1000
    }

    /// Parses a media type or range.
    ///
    /// - Returns: `nil` if there is no slash with a name on either side, or a parameter has no name.
    public init?(_ text: some StringProtocol) {
        var parts = HeaderTokens.split(text, at: ";").makeIterator()
        guard let essence = parts.next(), let slash = essence.firstIndex(of: "/") else { return nil }
        let type = essence[..<slash].lowercased()
        let subtype = essence[essence.index(after: slash)...].lowercased()
        guard HeaderTokens.isToken(type), HeaderTokens.isToken(subtype) else { return nil }
        self.init(type, subtype)
        while let part = parts.next() {
            if part.isEmpty { continue }
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = HeaderTokens.trim(part[..<equals]).lowercased()
            let value = HeaderTokens.unquote(part[part.index(after: equals)...])
            guard HeaderTokens.isToken(name) else { return nil }
            if name == "q" {
                guard let weight = Self.weight(value) else { return nil }
                self.weight = weight
            } else {
                parameters.append(Parameter(name, value))
            }
        }
    }

    /// Parses a list of media ranges, as in `Accept`; `nil` if a range is malformed.
    public static func list(_ text: some StringProtocol) -> [MediaType]? {
        var ranges: [MediaType] = []
        for item in HeaderTokens.split(text, at: ",") where !item.isEmpty {
            guard let range = MediaType(item) else { return nil }
            ranges.append(range)
        }
        return ranges
    }

    /// Returns the value of a parameter.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Returns whether the range contains a type, ignoring parameters.
    public func matches(_ type: String, _ subtype: String) -> Bool {
        (self.type == "*" || self.type == type) && (self.subtype == "*" || self.subtype == subtype)
    }

    /// Whether the type is JSON: `application/json`, or a type that ends in `+json`.
    public var isJSON: Bool { type == "application" && (subtype == "json" || subtype.hasSuffix("+json")) }

    /// The type, the subtype and the parameters, and the weight if it is not 1.
    public var description: String {
        var text = "\(type)/\(subtype)"
        for parameter in parameters {
            let value = HeaderTokens.isToken(parameter.value) ? parameter.value : HeaderTokens.quote(parameter.value)
            text += ";\(parameter.name)=\(value)"
        }
        if weight < 1000 {
            let digits = String(weight + 1000).dropFirst()
            text += ";q=0.\(digits)"
        }
        return text
    }

    private static func weight(_ text: String) -> Int? {
        guard let value = Double(text), value >= 0, value <= 1 else { return nil }
        return Int((value * 1000).rounded())
    }
}
