/// The party whose quotas a request uses: a principal, or the address of an anonymous caller.
public struct CallerID: Hashable, Sendable {
    private let text: String

    /// A principal. Its name counts together with its issuer, since a name is unique at its issuer only.
    public init(_ principal: Principal) { text = "principal \(principal.claims["iss"] ?? "") \(principal.name)" }

    /// An anonymous caller.
    ///
    /// - Parameter address: the address of the caller without its port. Of IPv6, the first 64 bits count, since one
    ///   host may have all others.
    public init(address: String) {
        guard address.contains(":") else {
            text = "address \(address)"
            return
        }
        // The double colon stands for the groups of zeros that are missing.
        let halves = address.prefix { $0 != "%" }.components(separatedBy: "::")
        let head = halves[0].split(separator: ":")
        let tail = halves.count > 1 ? halves[1].split(separator: ":") : []
        let zeros = [Substring](repeating: "0", count: max(0, 8 - head.count - tail.count))
        let groups = halves.count > 1 ? head + zeros + tail : head
        if groups.prefix(5).allSatisfy({ Int($0, radix: 16) == 0 }), let last = groups.last, last.contains(".") {
            // An address of IPv4 in the form of IPv6.
            text = "address \(last)"
        } else {
            text = "address \(groups.prefix(4).joined(separator: ":"))"
        }
    }

    /// The caller of a request: the principal if there is one, else the anonymous caller of the budget.
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
    /// The parts between the occurrences of a separator, without Foundation.
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
