import ODataModel

extension ControlInformation {
    /// The control information for a request: the type, annotations, and the kind of nested collections
    /// (`Items@delta`).
    ///
    /// Links, ETags and operations from the service are removed, because a strict service could reject them.
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
