/// A scope of unique names: the members of a type, or the types of a module.
struct NameScope {
    private var taken: Set<String>

    /// Creates a scope in which some names are already used.
    init(reserved: Set<String> = []) { taken = reserved }

    /// Reserves a name; returns `false` if it is already used.
    mutating func take(_ name: String) -> Bool { taken.insert(name).inserted }

    /// Reserves and returns the first candidate that is free and not in `reserved`. If there is none, the
    /// result is the last candidate with a suffix: `_` if it is reserved, otherwise the lowest free number from
    /// 2.
    mutating func name(_ candidates: String..., reserved: Set<String> = []) -> String {
        for candidate in candidates where !reserved.contains(candidate) && take(candidate) { return candidate }
        guard let last = candidates.last else { return name("unnamed") }
        if reserved.contains(last), take(last + "_") { return last + "_" }
        var number = 2
        while !take("\(last)\(number)") { number += 1 }
        return "\(last)\(number)"
    }
}
