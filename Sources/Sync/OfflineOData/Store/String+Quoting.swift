import ODataModel

extension String {
    /// The name of a table or column as it stands in SQL, with quotes inside it doubled.
    ///
    /// Takes the place of GRDB's property of the same name in this module, which does not double them: names come
    /// from the metadata of a service, which may hold anything.
    var quotedDatabaseIdentifier: String { "\"" + doubling(UInt8(ascii: "\"")) + "\"" }
}
