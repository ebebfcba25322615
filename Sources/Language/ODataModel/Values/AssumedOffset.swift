/// Support for JSON date-times without an offset, which the standard does not allow.
extension ODataDateTimeOffset {
    /// The offset in minutes, −840 to 840, for JSON date-times without one, in all reads of the current task. With
    /// `nil`, the default, such values are refused. The right offset depends on the service.
    ///
    /// ```swift
    /// let rows = try await ODataDateTimeOffset.$assumedOffset.withValue(0) { try await service.execute(request) }
    /// ```
    @TaskLocal public static var assumedOffset: Int?

    /// Parses a date-time without an offset; `nil` if no offset is assumed, or the text is invalid.
    init?(withoutOffset bytes: UnsafeBufferPointer<UInt8>) {
        guard let offset = Self.assumedOffset, let local = LexicalCursor.read(bytes, { $0.dateTime() }) else {
            return nil
        }
        self.init(
            seconds: local.seconds - Int64(offset) * 60, picoseconds: local.picoseconds, offsetMinutes: offset)
    }
}
