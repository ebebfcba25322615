/// The party that is charged for a request: a principal, or the address of an anonymous caller.
public struct CallerID: Hashable, Sendable {
    private let text: String

    /// Creates the id of a principal from its issuer and its name, since a name is unique only at its issuer.
    public init(_ principal: Principal) { text = "principal \(principal.claims["iss"] ?? "") \(principal.name)" }

    /// Creates the id of an anonymous caller.
    ///
    /// - Parameter address: the address of the caller without its port. Of an IPv6 address only the first 64 bits
    ///   count, since one host may own all addresses below them.
    public init(address: String) {
        guard address.contains(":") else {
            text = "address \(address)"
            return
        }
        // The double colon replaces the omitted groups of zeros.
        let halves = address.prefix { $0 != "%" }.components(separatedBy: "::")
        let head = halves[0].split(separator: ":")
        let tail = halves.count > 1 ? halves[1].split(separator: ":") : []
        let zeros = [Substring](repeating: "0", count: max(0, 8 - head.count - tail.count))
        let groups = halves.count > 1 ? head + zeros + tail : head
        if groups.prefix(5).allSatisfy({ Int($0, radix: 16) == 0 }), let last = groups.last, last.contains(".") {
            // An IPv4 address in IPv6 notation.
            text = "address \(last)"
        } else {
            text = "address \(groups.prefix(4).joined(separator: ":"))"
        }
    }

    /// Creates the id of a request's caller: the principal, or else the anonymous caller in the budget.
    ///
    /// The result is `nil` if the request has neither.
    public init?(of request: ODataRequest) {
        if let principal = request.context.principal {
            self.init(principal)
        } else if let caller = request.context.budget?.caller {
            self = caller
        } else {
            return nil
        }
    }
}

extension Sequence<Character> {
    /// Returns the parts between the occurrences of a separator, without Foundation.
    fileprivate func components(separatedBy separator: String) -> [String] {
        var parts = [""]
        for character in self {
            parts[parts.count - 1].append(character)
            if parts[parts.count - 1].hasSuffix(separator) {
                parts[parts.count - 1].removeLast(separator.count)
                parts.append("")
            }
        }
        return parts
    }
}
