extension EnumType {
    /// Returns the number for a text: a member's name, a number, or several of these separated by commas for flags
    /// (OData CSDL 4.01, 14.3.6; OData JSON Format 4.01, 7.1).
    ///
    /// - Returns: `nil` if a name is unknown, or the text has several parts and the type has no flags.
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

    /// Returns the text for a number: a member's name, the names of combined members for flags, or the number if no
    /// names express it.
    public func text(of value: Int64) -> String {
        if let member = members.first(where: { $0.value == value }) { return member.name }
        guard isFlags, value != 0 else { return String(value) }
        var rest = value
        var used: Set<String> = []
        // The largest values come first, so that a member that combines several flags is preferred to its parts.
        for member in members.sorted(by: { $0.value > $1.value })
        where member.value != 0 && rest & member.value == member.value {
            rest &= ~member.value
            used.insert(member.name)
        }
        guard rest == 0 else { return String(value) }
        return members.lazy.map(\.name).filter(used.contains).joined(separator: ",")
    }
}
