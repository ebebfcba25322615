/// Makes OData identifiers of the names in somebody else's database
/// (OData CSDL 4.01, 15.1 *SimpleIdentifier*).
enum LegalName {
    /// The greatest length of an identifier.
    static let maxLength = 128

    /// The name with everything that an identifier cannot hold replaced by an underscore.
    static func identifier(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars.prefix(maxLength) {
            let isLetter = scalar == "_" || scalar.properties.isAlphabetic
            let isDigit = scalar.properties.numericType == .decimal
            if isDigit, result.isEmpty { result.append("_") }
            result.unicodeScalars.append(isLetter || isDigit ? scalar : "_")
        }
        return result.isEmpty ? "_" : String(result.prefix(maxLength))
    }

    /// The singular of an English plural where that is plain; else the name itself.
    static func singular(_ name: String) -> String {
        let folded = name.lowercased()
        let irregular = ["series", "species", "news", "status", "address", "data", "media", "analysis", "bus"]
        if irregular.contains(where: folded.hasSuffix) { return name }
        if folded.hasSuffix("ies"), name.count > 4 { return name.dropLast(3) + (name.hasSuffix("IES") ? "Y" : "y") }
        for ending in ["sses", "shes", "ches", "xes", "zes"] where folded.hasSuffix(ending) {
            return String(name.dropLast(2))
        }
        for ending in ["ss", "us", "is", "as", "os"] where folded.hasSuffix(ending) { return name }
        return folded.hasSuffix("s") && name.count > 2 ? String(name.dropLast()) : name
    }

    /// The name of what a foreign key column leads to: the column without `ID`; `nil` where it does not end so.
    static func withoutIdentifierSuffix(_ column: String) -> String? {
        for suffix in ["_ID", "_id", "_Id", "ID", "Id", "_key", "_fk"] where column.hasSuffix(suffix) {
            let rest = String(column.dropLast(suffix.count))
            return rest.isEmpty || rest == "_" ? nil : rest
        }
        return nil
    }
}
