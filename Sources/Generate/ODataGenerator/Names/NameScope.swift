/// Names that must differ from each other: the members of a type, the types of a module.
struct NameScope {
    private var taken: Set<String>

    /// A scope in which some names are taken already.
    init(reserved: Set<String> = []) { taken = reserved }

    /// Takes a name, if it is free.
    mutating func take(_ name: String) -> Bool { taken.insert(name).inserted }

    /// A free name made from others: the first one that is free; else the last one with `_` at its end where it is
    /// reserved, or with the least number from 2 on.
    mutating func name(_ candidates: String..., reserved: Set<String> = []) -> String {
        for candidate in candidates where !reserved.contains(candidate) && take(candidate) { return candidate }
        guard let last = candidates.last else { return name("unnamed") }
        if reserved.contains(last), take(last + "_") { return last + "_" }
        var number = 2
        while !take("\(last)\(number)") { number += 1 }
        return "\(last)\(number)"
    }
}
