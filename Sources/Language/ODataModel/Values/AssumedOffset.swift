/// What is made of instants in JSON that a service writes without their offset, as it must not.
extension ODataDateTimeOffset {
    /// The offset in minutes, −840 to 840, that instants in JSON count as written with which have none, for all that the
    /// task reads; `nil`, the default, refuses them. Only who knows the service can tell.
    ///
    /// ```swift
    /// let rows = try await ODataDateTimeOffset.$assumedOffset.withValue(0) { try await service.execute(request) }
    /// ```
    @TaskLocal public static var assumedOffset: Int?

    /// An instant whose offset is left out; `nil` where none is assumed, or where the text is none.
    init?(withoutOffset bytes: UnsafeBufferPointer<UInt8>) {
        guard let offset = Self.assumedOffset, let local = LexicalCursor.read(bytes, { $0.dateTime() }) else {
            return nil
        }
        self.init(
            seconds: local.seconds - Int64(offset) * 60, picoseconds: local.picoseconds, offsetMinutes: offset)
    }
}
