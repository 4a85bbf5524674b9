/*
 * The sources of the page, as they are in this directory.
 */
#ifndef LOCKBROKER_HTTP_PAGE_SOURCES_H
#define LOCKBROKER_HTTP_PAGE_SOURCES_H

extern const char page_html[], page_css[], page_js[], draw_js[];

#endif
