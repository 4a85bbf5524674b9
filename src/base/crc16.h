/*
 * CRC-16/XMODEM (polynomial 0x1021, initial value 0): Redis Cluster computes
 * its slots with it, and the broker computes buckets from names.
 */
#ifndef LOCKBROKER_BASE_CRC16_H
#define LOCKBROKER_BASE_CRC16_H

#include <stddef.h>
#include <stdint.h>

uint16_t crc16(const char *p, size_t n);

#endif
