import Crypto
import Foundation
import Secrets

/// The first 4096 bytes of an encrypted database: a header, and the data key encrypted with the user's key.
///
/// Two slots make re-keying atomic. The new envelope is written to the unused slot with the next sequence
/// number, and synced; only then is the old slot erased. At every moment at least one slot is intact. Of two
/// intact slots, the one with the higher sequence number is valid. `Format.md` describes the bytes.
struct KeyBlock {
    static let magic = Array("Outpost SQLite\r\n".utf8)
    static let headerSize = 512
    static let slotSize = 512
    /// The offsets of the slots, which are far apart so that a torn write of one cannot damage the other.
    static let slotOffsets = [1024, 3072]

    let version: FormatVersion
    let fileIdentity: [UInt8]
    let header: [UInt8]
    private(set) var slots: [Slot?]

    struct Slot {
        var sequence: UInt64
        var envelope: KeyEnvelope
    }

    /// The reason why bytes are not a key block.
    enum Refusal: Error, Equatable {
        case plainDatabase
        case notADatabase
        case unsupportedFormat(Int)
        case damaged
        /// The system could not read the block; the number is SQLite's result code.
        case unreadable(Int32)
    }

    /// Creates a block without a slot.
    init(fileIdentity: [UInt8], version: FormatVersion = .latest) {
        var header = Self.magic
        header += Self.bytes(of: version)
        header += [UInt8(FileFormat.pageSize >> 8), UInt8(FileFormat.pageSize & 255)]
        header += [UInt8(FileFormat.reservedSize), 0, 0, 0]
        header += fileIdentity
        header += [UInt8](repeating: 0, count: Self.headerSize - header.count)
        self.header = header
        self.fileIdentity = fileIdentity
        self.version = version
        slots = [nil, nil]
    }

    /// The offset of the version in the block.
    static let versionOffset = 16

    /// Returns the two bytes that encode a version.
    static func bytes(of version: FormatVersion) -> [UInt8] { [0, UInt8(version.rawValue)] }

    /// Parses a block.
    init(bytes: [UInt8]) throws(Refusal) {
        guard !bytes.starts(with: Array("SQLite format 3\0".utf8)) else { throw .plainDatabase }
        let isMarked = bytes.starts(with: Self.magic)
        guard bytes.count == FileFormat.keyBlockSize else { throw isMarked ? .damaged : .notADatabase }
        let number = Int(bytes[16]) << 8 | Int(bytes[17])
        let stated = FormatVersion(rawValue: number)
        // A slot is intact only under the header that it was written with, so the version matters. An intact
        // slot proves that the file is ours. A different name or version in the header then means damage, and
        // neither a foreign file nor a newer version.
        self.init(slotsOf: bytes, stated ?? .latest)
        let isVouchedFor =
            stated != nil
            ? active != nil : FormatVersion.allCases.contains { KeyBlock(slotsOf: bytes, $0).active != nil }
        guard isMarked || isVouchedFor else { throw .notADatabase }
        guard stated != nil || isVouchedFor else { throw .unsupportedFormat(number) }
        guard isVouchedFor, bytes.starts(with: header) else { throw .damaged }
    }

    /// Takes the file identity and the intact slots, assuming the header of a version for that identity.
    private init(slotsOf bytes: [UInt8], _ version: FormatVersion) {
        self.init(fileIdentity: Array(bytes[24..<40]), version: version)
        for (index, offset) in Self.slotOffsets.enumerated() {
            slots[index] = slot(from: Array(bytes[offset..<(offset + Self.slotSize)]), isWhole: true)
        }
    }

    /// Reconstructs a damaged block. Everything but the file identity, the sequence numbers and the envelopes
    /// follows from the format.
    ///
    /// - Returns: Blocks with one slot each, in the order in which they should be tried. A block is right only
    ///   if its envelope opens: the envelope's tag covers the header and the sequence number.
    static func mended(_ bytes: [UInt8]) -> [KeyBlock] {
        guard bytes.count == FileFormat.keyBlockSize else { return [] }
        let stated = FormatVersion(rawValue: Int(bytes[16]) << 8 | Int(bytes[17]))
        // An invalid version is damage; the envelope's tag shows the original version.
        let versions = stated.map { [$0] } ?? FormatVersion.allCases.reversed()
        let whole = versions.map { KeyBlock(slotsOf: bytes, $0) }.filter { $0.active != nil }
        // An intact slot takes precedence over damaged ones.
        guard whole.isEmpty else { return whole }
        let blocks = FormatVersion.allCases.reversed().flatMap { version in
            slotOffsets.enumerated().compactMap { index, offset -> KeyBlock? in
                var mended = KeyBlock(slotsOf: bytes, version)
                mended.slots[index] = mended.slot(from: Array(bytes[offset..<(offset + slotSize)]), isWhole: false)
                return mended.slots[index] == nil ? nil : mended
            }
        }
        return blocks.sorted { $0.sequence > $1.sequence }
    }

    /// Returns whether bytes equal this block. A slot that an upgrade has written or left, and that is invalid
    /// under this header, is not a difference: the next unlocking removes it.
    func isWritten(as bytes: [UInt8]) -> Bool {
        guard bytes.count == FileFormat.keyBlockSize else { return false }
        var expected = self.bytes
        for other in FormatVersion.allCases where other != version {
            let remains = KeyBlock(slotsOf: bytes, other)
            for (index, offset) in Self.slotOffsets.enumerated()
            where slots[index] == nil && remains.slots[index] != nil {
                expected.replaceSubrange(offset..<(offset + Self.slotSize), with: remains.slotBytes(index))
            }
        }
        return expected == bytes
    }

    /// Returns the same block in another version, with a slot that is valid under the new header. The data key
    /// and the user's key stay.
    ///
    /// The salt stays too, so a passphrase needs no second derivation; the nonce is new.
    ///
    /// - Returns: The block, and the index of its slot.
    func upgraded(
        to version: FormatVersion, with source: KeySource
    ) throws(SecretError) -> (block: KeyBlock, slot: Int) {
        let dataKey = try dataKey(with: source)
        guard let active, let old = slots[active]?.envelope else { throw .wrongKey }
        var block = KeyBlock(fileIdentity: fileIdentity, version: version)
        block.slots = slots
        let sequence = sequence &+ 1
        let envelope = try KeyEnvelope.seal(
            dataKey, with: source, context: block.context(sequence: sequence), derivation: old.derivation ?? .standard,
            deriver: .shared, salt: Array(old.bytes[16..<32]), nonce: randomBytes(FileFormat.nonceSize))
        let slot = block.place(Slot(sequence: sequence, envelope: envelope))
        return (block, slot)
    }

    /// The sequence number of the valid slot; 0 without one.
    private var sequence: UInt64 { active.flatMap { slots[$0]?.sequence } ?? 0 }

    /// The index of the valid slot.
    var active: Int? {
        slots.indices.filter { slots[$0] != nil }.max { (slots[$0]?.sequence ?? 0) < (slots[$1]?.sequence ?? 0) }
    }

    /// Returns the associated data of a slot's envelope: the header and the sequence number.
    func context(sequence: UInt64) -> [UInt8] {
        header + withUnsafeBytes(of: sequence.bigEndian) { Array($0) }
    }

    /// Opens the valid envelope.
    func dataKey(with source: KeySource) throws(SecretError) -> EncryptionKey {
        guard let active, let slot = slots[active] else { throw .wrongKey }
        return try slot.envelope.open(with: source, context: context(sequence: slot.sequence))
    }

    /// Wraps the data key again, in the unused slot.
    ///
    /// - Returns: The index of that slot, which must be written before the other one is erased.
    mutating func addSlot(
        _ dataKey: EncryptionKey, with source: KeySource, derivation: ScryptParameters
    ) throws(SecretError) -> Int {
        let sequence = sequence &+ 1
        let envelope = try KeyEnvelope.seal(
            dataKey, with: source, context: context(sequence: sequence), derivation: derivation)
        return place(Slot(sequence: sequence, envelope: envelope))
    }

    /// Puts a slot in the unused position and removes the previously valid one.
    mutating func place(_ slot: Slot) -> Int {
        let index = active == 0 ? 1 : 0
        slots[index] = slot
        slots[1 - index] = nil
        return index
    }

    /// Returns the bytes of one slot, which are zeros if the slot is empty.
    func slotBytes(_ index: Int) -> [UInt8] {
        guard let slot = slots[index] else { return [UInt8](repeating: 0, count: Self.slotSize) }
        var bytes = withUnsafeBytes(of: slot.sequence.bigEndian) { Array($0) }
        bytes += [0, UInt8(KeyEnvelope.byteCount), 0, 0, 0, 0, 0, 0]
        bytes += slot.envelope.bytes
        bytes += [UInt8](repeating: 0, count: Self.slotSize - 32 - bytes.count)
        // The digest only distinguishes a torn slot from a wrong key. The envelope's tag protects the slot.
        return bytes + Array(SHA256.hash(data: header + bytes))
    }

    var bytes: [UInt8] {
        var block = header + [UInt8](repeating: 0, count: FileFormat.keyBlockSize - header.count)
        for (index, offset) in Self.slotOffsets.enumerated() {
            block.replaceSubrange(offset..<(offset + Self.slotSize), with: slotBytes(index))
        }
        return block
    }

    /// - Parameter isWhole: Whether the digest of the slot must match.
    private func slot(from bytes: [UInt8], isWhole: Bool) -> Slot? {
        let sequence = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let content = Array(bytes[..<(Self.slotSize - 32)])
        guard sequence > 0,
            !isWhole || Array(SHA256.hash(data: header + content)) == Array(bytes[(Self.slotSize - 32)...]),
            let envelope = try? KeyEnvelope(bytes: Array(bytes[16..<(16 + KeyEnvelope.byteCount)]))
        else { return nil }
        return Slot(sequence: sequence, envelope: envelope)
    }
}
