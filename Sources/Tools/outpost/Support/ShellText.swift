extension String {
    /// The text as one word of a command that a person copies from a message into a shell.
    var shellQuoted: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || "_@%+=:,./-".unicodeScalars.contains(scalar)
        }
        if isPlain, !isEmpty { return self }
        let parts = unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map { String($0) }
        return "'" + parts.joined(separator: #"'\''"#) + "'"
    }
}
