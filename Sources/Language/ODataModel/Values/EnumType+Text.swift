extension EnumType {
    /// The number of a value in text form: a member's name, a number, or for flags several of them
    /// separated by commas (OData CSDL 4.01, 14.3.6; OData JSON Format 4.01, 7.1).
    ///
    /// - Returns: `nil` when a name is not a member's, or when several stand there and the type has no flags.
    public func value(of text: some StringProtocol) -> Int64? {
        var result: Int64?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = part.drop { $0 == " " }
            guard let number = members.first(where: { $0.name == name })?.value ?? Int64(name) else { return nil }
            guard let before = result else {
                result = number
                continue
            }
            guard isFlags else { return nil }
            result = before | number
        }
        return result
    }

    /// The text form of a value: the member's name, for flags the names of the members it combines, and
    /// the number where no names express it.
    public func text(of value: Int64) -> String {
        if let member = members.first(where: { $0.value == value }) { return member.name }
        guard isFlags, value != 0 else { return String(value) }
        var rest = value
        var used: Set<String> = []
        // The largest first, so that a member which stands for several flags is preferred to its parts.
        for member in members.sorted(by: { $0.value > $1.value })
        where member.value != 0 && rest & member.value == member.value {
            rest &= ~member.value
            used.insert(member.name)
        }
        guard rest == 0 else { return String(value) }
        return members.lazy.map(\.name).filter(used.contains).joined(separator: ",")
    }
}
