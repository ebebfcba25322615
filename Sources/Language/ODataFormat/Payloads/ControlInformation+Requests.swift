import ODataModel

extension ControlInformation {
    /// What of it goes out with a request: the type, annotations, and what a nested collection is (`Items@delta`); none of the
    /// links, tags and operations that the service once gave, which a strict service might take amiss.
    package var ofRequest: ControlInformation {
        var result = ControlInformation()
        result.type = type
        result.annotations = annotations.filter { name, _ in
            if name.hasSuffix("@odata.delta") || name.hasSuffix("@odata.type") { return true }
            return !name.hasPrefix("odata.") && !name.hasPrefix("atom.") && !name.hasPrefix("#")
                && !name.contains("@odata.")
        }
        return result
    }
}
