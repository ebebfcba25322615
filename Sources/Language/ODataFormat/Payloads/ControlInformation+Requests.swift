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
            let control = name.halves(atLast: "@")?.behind
            if control == "odata.delta" || control == "odata.type" { return true }
            return !["odata.", "atom.", "#"].contains { name.begins(with: $0) }
                && !name.parts(between: "@").dropFirst().contains { $0.begins(with: "odata.") }
        }
        return result
    }
}
