import ODataModel

/// Makes entities of the set `Destinations`.
struct DestinationEntity {
    private let shapes: DeviceModel

    init(_ shapes: DeviceModel) { self.shapes = shapes }

    func entity(_ summary: DestinationSummary) -> ODataEntity {
        var entity = ODataEntity(shape: shapes.destination)
        entity["Name"] = .string(summary.name)
        entity["Dialect"] = .string(summary.dialect)
        entity["URL"] = .string("d/\(summary.name)/")
        entity["Queries"] = .collection(summary.queries.map { .complex(query($0)) })
        entity["StoreOptions"] = .complex(options(summary.options))
        entity.markUnchanged()
        return entity
    }

    private func query(_ summary: QuerySummary) -> ODataEntity {
        var entity = ODataEntity(shape: shapes.complex("DefiningQuery"))
        entity["Name"] = .string(summary.name)
        entity["Query"] = .string(summary.query)
        entity["Group"] = .string(summary.group)
        entity["Visibility"] = .string(summary.visibility.rawValue)
        entity["RefreshInterval"] = .integer(summary.refreshInterval.components.seconds / 60)
        entity["Streams"] = .boolean(summary.hasStreams)
        entity["Image"] = .null
        return entity
    }

    /// Returns the options under the names of the configuration, which the client translates.
    private func options(_ options: StoreOptionSettings) -> ODataEntity {
        var entity = ODataEntity(shape: shapes.complex("StoreOptions"))
        entity["indexes"] = .collection(options.indexes.map { .string($0) })
        entity["full_format"] = .string(options.fullFormat)
        entity["delta_format"] = .string(options.deltaFormat)
        entity["collation"] = .string(options.collation)
        entity["case_sensitive"] = .boolean(options.isCaseSensitive)
        entity["offset_in_utc"] = .boolean(options.hasOffsetInUTC)
        entity["local_change_expiry"] = .integer(Int64(options.localChangeExpiry))
        entity["generated_values_early"] = .boolean(options.populatesGeneratedValuesEarly)
        entity["omit_max_length"] = .boolean(options.omitsMaxLength)
        entity["content_id"] = .string(options.contentID)
        entity["batch_all"] = .boolean(options.batchesAll)
        entity["check_repeatable"] = .boolean(options.checksRepeatable)
        entity["query_removal"] = .boolean(options.allowsQueryRemoval)
        return entity
    }
}
